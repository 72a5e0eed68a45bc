// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// InModule returns the path of a file in a Go module, in the version that the go.mod in a directory of the repository requires.
func InModule(t *testing.T, folder, module string, elements ...string) string {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	download.Dir = InRepository(folder)
	// The output also has the error.
	output, err := download.Output()
	if err != nil {
		t.Fatalf("looking for the module %s: %v\n%s", module, err, output)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(output, &downloaded); err != nil {
		t.Fatalf("looking for the module %s: %v\n%s", module, err, output)
	}
	return filepath.Join(append([]string{downloaded.Dir}, elements...)...)
}
