// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"unit.json": `{"Action":"start","Package":"github.com/sharelinuxs/modelbox-apiserver/pkg/render"}
{"Action":"pass","Package":"github.com/sharelinuxs/modelbox-apiserver/pkg/render","Test":"TestHash","Elapsed":1.5}
{"Action":"pass","Package":"github.com/sharelinuxs/modelbox-apiserver/pkg/render","Test":"TestHash/case","Elapsed":1.4}
{"Action":"pass","Package":"github.com/sharelinuxs/modelbox-apiserver/pkg/render","Elapsed":2}
{"Action":"fail","Package":"github.com/sharelinuxs/modelbox-apiserver/pkg/storage","Test":"TestStore","Elapsed":8}
{"Action":"fail","Package":"github.com/sharelinuxs/modelbox-apiserver/pkg/storage","Elapsed":9}
`,
		"unit.cpu":    "/src/pkg/render\t3.00\n/src/pkg/storage\t4.00\n/src/pkg/storage\t1.00\n",
		"unit.total":  "30.5 40.0 8.0\n",
		"tools.json":  `{"Action":"pass","Package":"github.com/sharelinuxs/modelbox-apiserver/hack/tools/sbom","Elapsed":0}` + "\n",
		"tools.total": "2.0 1.0 0.5\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	steps, err := readSteps(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report(&out, steps); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"SECONDS CPU CPU TESTING STEP", "30 48 8 unit", "2 2 - tools", "",
		"SECONDS CPU SLOWEST PACKAGES", "9 5 pkg/storage", "2 3 pkg/render", "0 - hack/tools/sbom", "",
		"SECONDS SLOWEST TESTS", "8 pkg/storage.TestStore", "2 pkg/render.TestHash",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// TestExecute runs this program again, as "go test" runs it: it exits as the test program does.
func TestExecute(t *testing.T) {
	if len(os.Args) > 3 && os.Args[len(os.Args)-1] == "as-testtimes" {
		if err := execute(os.Args[len(os.Args)-2], "/bin/sh", []string{"-c", "exit 3"}); err != nil {
			t.Fatal(err)
		}
		return
	}
	file := filepath.Join(t.TempDir(), "unit.cpu")
	err := exec.Command(os.Args[0], "-test.run=^TestExecute$", "--", file, "as-testtimes").Run()
	if code := err.(*exec.ExitError).ExitCode(); code != 3 {
		t.Errorf("exited with %d, want 3 as the program", code)
	}
	if content, err := os.ReadFile(file); err != nil || len(content) == 0 {
		t.Errorf("wrote %q, %v", content, err)
	}
}
