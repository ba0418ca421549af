function before() {
  return <p>one</p>;
}

function broken() {
  return <p>{ (</p>;
}

function after() {}
