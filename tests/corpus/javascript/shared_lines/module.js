function a() {} function b() {}
class C {
  m() {} n() {}
  o() {
  }; p() {
  }
  q() {} }
export { C as default };
