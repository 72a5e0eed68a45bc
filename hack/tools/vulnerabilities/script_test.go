// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package vulnerabilities

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// scanned is a small package of the product. It calls the symbol of vulnerability.
	scanned = "./pkg/version"

	modules       = `[{"path": "k8s.io/apimachinery", "vulns": [{"id": "GO-2026-0001", "modified": "2026-01-02T03:04:05Z"}]}]`
	vulnerability = `{
		"schema_version": "1.3.1", "id": "GO-2026-0001", "modified": "2026-01-02T03:04:05Z", "published": "2026-01-02T03:04:05Z",
		"summary": "Made up for a test", "details": "Made up for a test.", "database_specific": {"url": "https://example.com/GO-2026-0001"},
		"affected": [{
			"package": {"name": "k8s.io/apimachinery", "ecosystem": "Go"},
			"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
			"ecosystem_specific": {"imports": [{"path": "k8s.io/apimachinery/pkg/util/version", "symbols": ["MustParse"]}]}
		}]}`
)

// newDatabase returns the URL of a vulnerability database with these files.
func newDatabase(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + dir
}

func TestScript(t *testing.T) {
	const updated = `{"modified": "2026-01-02T03:04:05Z"}`
	empty := newDatabase(t, map[string]string{"index/db.json": updated, "index/modules.json": "[]"})
	filled := newDatabase(t, map[string]string{"index/db.json": updated, "index/modules.json": modules, "ID/GO-2026-0001.json": vulnerability})
	missing := newDatabase(t, nil) + "/missing"
	// Nothing listens there, so the default database cannot be reached.
	const unreachable = "HTTPS_PROXY=http://127.0.0.1:1"
	for _, row := range []struct {
		name string
		env  []string
		code int
		want string
	}{
		{"the default database cannot be reached", []string{unreachable}, 0, "the vulnerability database cannot be reached: not checked\n"},
		{"the default database cannot be reached and is required", []string{unreachable, "MODELBOX_REQUIRE_VULNDB=1"}, 1, "ERROR: the vulnerability database cannot be reached\n"},
		{"the database that GOVULNDB names cannot be reached", []string{"GOVULNDB=" + missing}, 1, "ERROR: the vulnerability database cannot be reached: " + missing + "\n"},
		{"the product has no known vulnerability", []string{"GOVULNDB=" + empty}, 0, "No vulnerabilities found."},
		{"the product calls code with a known vulnerability", []string{"GOVULNDB=" + filled}, 3, "Your code is affected by 1 vulnerability from 1 module."},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := exec.Command("../../verify-vulnerabilities.sh", scanned)
			script.Env = append(os.Environ(), append([]string{"GOVULNDB=", "MODELBOX_REQUIRE_VULNDB="}, row.env...)...)
			output, err := script.CombinedOutput()
			if script.ProcessState == nil {
				t.Fatal(err)
			}
			if got := script.ProcessState.ExitCode(); got != row.code {
				t.Errorf("exit code: got %d, want %d; the output is:\n%s", got, row.code, output)
			}
			if !strings.Contains(string(output), row.want) {
				t.Errorf("the output lacks %q:\n%s", row.want, output)
			}
		})
	}
}
