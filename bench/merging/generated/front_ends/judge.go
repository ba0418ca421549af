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
		answers := [][]string{}
		for _, text := range asked.Texts {
			answers = append(answers, complaints(positions, imports, asked, text))
		}
		output.Encode(answers)
	}
}

func complaints(positions *token.FileSet, imports types.Importer, asked request, text string) []string {
	found := []string{}
	file, err := parser.ParseFile(positions, asked.Name, text, parser.AllErrors)
	if err != nil {
		return []string{"syntax error"}
	}
	files := []*ast.File{file}
	beside, err := build.ImportDir(asked.Folder, 0)
	if err == nil {
		for _, name := range beside.GoFiles {
			if name == asked.Name {
				continue
			}
			other, err := parser.ParseFile(positions, filepath.Join(asked.Folder, name), nil, 0)
			if err == nil {
				files = append(files, other)
			}
		}
	}
	checker := types.Config{Importer: imports, FakeImportC: true, Error: func(err error) {
		found = append(found, err.(types.Error).Msg)
	}}
	checker.Check(file.Name.Name, positions, files, nil)
	return found
}
