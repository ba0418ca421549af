export interface Sized {
  name: string;
  size(): number;
}

export enum Colour {
  Red = 1,
  Green = 2,
}

type Word = "first" | "second";

interface Point {
  x: number;
  y: number;
}

const LIMIT = 10;
const ORIGIN: Point = { x: 0, y: 0 };
export const WORDS = ["first", "second"];
const NAMED: Record<string, number> = { first: 1, second: 2 };

export class Shape implements Sized {
  readonly name: string = "shape";

  constructor(private width: number, private height: number) {}

  size(): number {
    let total = this.width * this.height;
    if (total > LIMIT) {
      total = LIMIT;
    }
    return total;
  }

  grown(by: number): Shape {
    return new Shape(this.width + by, this.height);
  }
}

export function total(shapes: Shape[], start: number): number {
  const seen: number[] = [];
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

function hue(colour: Colour): string {
  switch (colour) {
    case Colour.Red:
      return "red";
    case Colour.Green:
      return "green";
  }
}

function named(word: Word): number {
  return NAMED[word] || WORDS.length;
}

export function check(): number {
  const shapes = [new Shape(1, 2), new Shape(2, 3)];
  const larger = shapes[0].grown(2);
  console.log(larger, ORIGIN, hue(Colour.Red));
  return total(shapes, 1) + named("first");
}
