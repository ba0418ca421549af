/**
 * About the shop.
 */
@register
export class Shop extends Base {
  static limit = 3;

  // about open
  open() {
    return 1;
  }

  get price() { return 1; }

  set price(value) {
    this.value = value;
  }

  handler = (event) => {
    go();
  };

  static { boot(); }

  // note of the class

  static async *items() {}
  #secret() {}
  'quoted name'() {}
  [Symbol.iterator]() {}
}
class One { only() {} }
export default class {
  member() {}
}
const Inline = class {
  call() {}
};
