// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package costtest

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/version"
)

// updateVariable is the environment variable with which tests write their counts.
const updateVariable = "UPDATE_COUNTS"

// release is the last release, or before the first one the first one.
const release = "v" + version.Current

//go:embed testdata/box.yaml
var boxYAML []byte

// Box returns the box whose cost is counted: of the size of real ones, without defaults.
func Box(t testing.TB) *modelv1.ModelBox {
	t.Helper()
	box := &modelv1.ModelBox{}
	if err := yaml.UnmarshalStrict(boxYAML, box); err != nil {
		t.Fatal(err)
	}
	return box
}

func isUpdate() bool { return os.Getenv(updateVariable) == "true" }

// fixtureFile returns the path of the file with the counts of a subject.
func fixtureFile(subject string) string {
	return filepath.Join(root(), "pkg", "costtest", "testdata", release, subject+".yaml")
}

func readFixture(file string) (Counts, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var counts Counts
	if err := yaml.UnmarshalStrict(data, &counts); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return counts, nil
}

func writeFixture(file, subject string, counts Counts) error {
	data, err := yaml.Marshal(counts)
	if err != nil {
		return err
	}
	header := fmt.Sprintf("# The cost of the %s in %s. A test writes this file: see docs/development.md.\n", subject, release)
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, append([]byte(header), data...), 0o644))
}

// root returns the directory of the module. Tests run in the directory of their package, below it.
func root() string {
	for dir := workingDirectory(); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("the test does not run inside the repository")
		}
	}
}

func workingDirectory() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err) // the working directory was removed
	}
	return dir
}
