// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMissingPrograms(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"containerd-shim-runc-v2", "mount", "nft", "bridge", "host-local", "loopback"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	empty := t.TempDir()

	for _, test := range []struct {
		name              string
		path              string
		plugins           []string
		missing, packages []string
	}{
		{
			name:     "some",
			path:     folder,
			plugins:  []string{empty, folder},
			missing:  []string{"containerd", "ctr", "runc"},
			packages: []string{"containerd", "runc"},
		},
		{
			name:     "all",
			path:     empty,
			plugins:  []string{empty},
			missing:  []string{"containerd", "containerd-shim-runc-v2", "ctr", "runc", "nft", "mount", "the CNI plugins bridge, host-local, loopback"},
			packages: []string{"containerd", "containernetworking-plugins", "mount", "nftables", "runc"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", test.path)
			missing, packages := missingPrograms(test.plugins)
			if diff := cmp.Diff(test.missing, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.packages, packages); diff != "" {
				t.Errorf("packages (-want +got):\n%s", diff)
			}
		})
	}
}
