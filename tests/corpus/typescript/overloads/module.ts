export function parse(text: string): Tree;
export function parse(text: Buffer): Tree;
export function parse(text: unknown): Tree {
  return read(text);
}

declare function outside(): void;
