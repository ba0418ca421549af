// Reads lines of JSON, each a list of texts, and answers each with what TypeScript says against every text.
const readline = require("readline");
const ts = require(process.argv[2]);

const options = {
  noEmit: true, strict: true, allowJs: true, checkJs: true, noResolve: true, skipLibCheck: true, types: [],
  target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
  moduleDetection: ts.ModuleDetectionKind.Force, allowUnreachableCode: true, experimentalDecorators: true,
};
const host = ts.createCompilerHost(options);
// The files that a text imports are not there.
const MISSING = new Set([2307, 2792, 7016, 2834, 2835]);
const kept = new Map();
const read = host.getSourceFile.bind(host);
let texts = [];
let suffix = "";

function numbered(name) {
  const found = /text(\d+)\.\w+$/.exec(name);
  return found && texts[Number(found[1])];
}

host.getSourceFile = (name, version, ...rest) => {
  const text = numbered(name);
  if (typeof text === "string") {
    return ts.createSourceFile(name, text, version, true);
  }
  if (!kept.has(name)) {
    kept.set(name, read(name, version, ...rest));
  }
  return kept.get(name);
};
host.fileExists = (name) => typeof numbered(name) === "string" || ts.sys.fileExists(name);
host.writeFile = () => {};

function said(diagnostic) {
  return "TS" + diagnostic.code + " " + ts.flattenDiagnosticMessageText(diagnostic.messageText, " ").replace(/text\d+/g, "text");
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  ({ texts, suffix } = JSON.parse(line));
  const program = ts.createProgram(texts.map((_, number) => `/text${number}${suffix}`), options, host);
  const answers = texts.map((_, number) => {
    const file = program.getSourceFile(`/text${number}${suffix}`);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].filter((each) => !MISSING.has(each.code)).map(said);
  });
  process.stdout.write(JSON.stringify(answers) + "\n");
});
