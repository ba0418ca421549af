import fs from "./fs.js";

const LIMIT = 10;
export const WORDS = ["first", "second"];
const NAMED = { first: 1, second: 2 };

export class Shape {
  width = 1;
  static made = 0;

  constructor(width, height) {
    this.width = width;
    this.height = height;
    Shape.made += 1;
  }

  get name() {
    return "shape";
  }

  size() {
    let total = this.width * this.height;
    if (total > LIMIT) {
      total = LIMIT;
    }
    return total;
  }

  grown(by) {
    return new Shape(this.width + by, this.height);
  }
}

export function total(shapes, start) {
  const seen = [];
  let result = start;
  for (const shape of shapes) {
    result += shape.size();
    seen.push(result);
  }
  if (!seen.length) {
    return start;
  }
  return result;
}

function named(word) {
  switch (word) {
    case "none":
      return 0;
    case "one":
      return 1;
  }
  return NAMED[word] || WORDS.length;
}

export function check() {
  const shapes = [new Shape(1, 2), new Shape(2, 3)];
  const larger = shapes[0].grown(2);
  console.log(larger, fs);
  return total(shapes, 1) + named("first");
}
