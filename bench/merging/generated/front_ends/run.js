// Reads lines of JSON, each a program with the arguments for its functions; answers what callers of each function see.
const readline = require("readline");

function called(made, name, given, size) {
  const { state, Box, named } = made();
  const box = new Box(size);
  const [of, method] = name.split(".");
  let result;
  try {
    result = method === "__init__" ? box.size : method ? box[method](given) : named(of)(given);
  } catch (error) {
    result = error.name;
  }
  return String([result, "|", ...state, "|", box.size, "|", ...box.seen]);
}

function names(text) {
  const [, inside = ""] = /^class Box \{\n([^]*?)^\}/m.exec(text) || [];
  const members = [...inside.matchAll(/^ {2}(\w+)\(.*\{$/gm)].map((found) => found[1].replace("constructor", "__init__"));
  return [...[...text.matchAll(/^function (\w+)\(/gm)].map((found) => found[1]), ...members.map((each) => `Box.${each}`)];
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { text, given, size } = JSON.parse(line);
  let answer = {};
  try {
    const made = new Function(`${text}\nreturn { state, Box, named: (name) => eval(name) };`);
    const functions = names(text).filter((name) => name !== "divided");
    answer = Object.fromEntries(functions.map((name) => [name, given.map((each) => called(made, name, each, size))]));
  } catch (error) {
    answer = { program: [error.name] };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
