const text = `
function no() {
}
`;
// {
function yes() {
  return "}" + /}/.source + `${"{"}`;
}
/* function no() {} */
