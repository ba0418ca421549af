export function before(): void {}

export class C {
  method(: void {
  }

export function after(): void {}
