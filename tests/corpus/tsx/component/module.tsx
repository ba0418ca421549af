type Props = { label: string };

export function Button({ label }: Props) {
  return <button style={{ color: "red" }}>{label}</button>;
}

export const List = <T,>({ items }: { items: T[] }) => {
  return <ul>{items.map((item) => <li>{String(item)}</li>)}</ul>;
};
