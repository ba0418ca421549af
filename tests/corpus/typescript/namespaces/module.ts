namespace Shop.Goods {
  export function price(): number {
    return 1;
  }

  export class Item {
    name() {}
  }
}

declare module "shop" {
  export function open(): void;
}

declare global {
  interface Window {
    shop: unknown;
  }
}
