export default function App() {
  return (
    <>
      <Button label="a" />
    </>
  );
}

const Memo = React.memo(App);
const Lazy = lazy(() => import("./App"));
