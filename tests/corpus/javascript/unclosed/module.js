function before() {
  return 1;
}

class C {
  method() {
    call(
  }
}

function after() {}
