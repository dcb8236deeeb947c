// The part of the Python extension's interface that callground uses; the interpreter comes from the tests.
const vscode = require("vscode");

exports.activate = () => {
  const changed = new vscode.EventEmitter();
  const interpreter = process.env.CALLGROUND_STUB_PYTHON;
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ id: interpreter, path: interpreter }),
      resolveEnvironment: async ({ path }) => ({ executable: { uri: vscode.Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
