import a from "a";

// about total
export function total(items) {
  function inner() {}
  return inner;
}

const add = (a, b) => {
  return a + b;
}; // why

export const async = async function* () {}
const LIMIT = 10;
let plain = total(1), other = () => 1;

exports.later = function () {
  return 1;
};
Store.prototype.get = () => {};

export default function () {
  return 1;
}
if (LIMIT) {
  function inside() {}
}
