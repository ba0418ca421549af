export interface Shop<T> extends Base {
  name: string;

  // about open
  open(hour: number): void;
  close?(): void;
}

export type Handler = (event: Event) => void;
type Options = {
  deep: boolean;
};

export enum Colour {
  Red,
  Green,
}

abstract class Shape {
  abstract area(): number;
  constructor(private readonly size: number) {
    super();
  }
}
