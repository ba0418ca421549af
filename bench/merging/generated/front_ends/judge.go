// Judge reads lines of JSON, each with a folder, the name of a file in it and texts for that file, and answers each
// with what Go's type checker says against every text beside the other files of its package.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
)

type request struct {
	Folder string   `json:"folder"`
	Name   string   `json:"name"`
	Texts  []string `json:"texts"`
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<28)
	output := json.NewEncoder(os.Stdout)
	positions := token.NewFileSet()
	imports := importer.ForCompiler(positions, "source", nil)
	for input.Scan() {
		var asked request
		if err := json.Unmarshal(input.Bytes(), &asked); err != nil {
			panic(err)
		}
		others := beside(positions, asked)
		answers := [][]string{}
		for _, text := range asked.Texts {
			answers = append(answers, complaints(positions, imports, asked, others, text))
		}
		output.Encode(answers)
	}
}

// Beside parses the other files of the package.
func beside(positions *token.FileSet, asked request) []*ast.File {
	files := []*ast.File{}
	found, err := build.ImportDir(asked.Folder, 0)
	if err != nil {
		return files
	}
	for _, name := range found.GoFiles {
		if name == asked.Name {
			continue
		}
		other, err := parser.ParseFile(positions, filepath.Join(asked.Folder, name), nil, 0)
		if err == nil {
			files = append(files, other)
		}
	}
	return files
}

func complaints(positions *token.FileSet, imports types.Importer, asked request, others []*ast.File, text string) []string {
	found := []string{}
	file, err := parser.ParseFile(positions, asked.Name, text, parser.AllErrors)
	if err != nil {
		return []string{"syntax error"}
	}
	checker := types.Config{Importer: imports, FakeImportC: true, Error: func(err error) {
		found = append(found, err.(types.Error).Msg)
	}}
	checker.Check(file.Name.Name, positions, append([]*ast.File{file}, others...), nil)
	return found
}
