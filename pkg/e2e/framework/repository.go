// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"os"
	"path/filepath"
	"sync"
)

// Binary is the path of a program that "make build" builds.
func Binary(name string) string { return InRepository("_output", "bin", name) }

// InRepository is the path of a file of the repository.
func InRepository(elements ...string) string {
	return filepath.Join(append([]string{root()}, elements...)...)
}

// root is the directory of the module. Tests run in the directory of their package, somewhere below.
var root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err) // there is no working directory any more
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

// Sample is the path of one of the manifests that users are given to start from.
func Sample(file string) string { return InRepository("artifacts", "samples", file) }
