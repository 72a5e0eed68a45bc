// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"os"
	"path/filepath"
	"sync"
)

// Binary returns the path of a program that "make build" builds.
func Binary(name string) string { return InRepository("_output", "bin", name) }

// InRepository returns the path of a file in the repository.
func InRepository(elements ...string) string {
	return filepath.Join(append([]string{root()}, elements...)...)
}

// root returns the directory of the module. Tests run in the directory of their package, below it.
var root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err) // the working directory was removed
	}
	for parent := filepath.Dir(dir); ; dir, parent = parent, filepath.Dir(parent) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if parent == dir {
			panic("the tests do not run inside the repository")
		}
	}
})

// Sample returns the path of a sample manifest.
func Sample(file string) string { return InRepository("artifacts", "samples", file) }
