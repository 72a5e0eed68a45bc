// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
)

// TestProgramsLoseWhatTheyDoNotSync runs programs that replace a file, and cuts the power after they have ended.
func TestProgramsLoseWhatTheyDoNotSync(t *testing.T) {
	const (
		synced   = "echo before >a; sync a; sync .; "
		complete = "a=after d/c=below"
	)
	for _, test := range []struct {
		name, program string
		isComplete    bool
	}{
		{"all is synced", synced + "echo after >b; sync b; mv b a; mkdir d; echo below >d/c; sync d/c; sync d; sync .", true},
		{"the directory is not synced", synced + "echo after >b; sync b; mkdir d; echo below >d/c; sync d/c; sync d; mv b a", false},
		{"the files are not synced", synced + "echo after >b; mv b a; mkdir d; echo below >d/c; sync d; sync .", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			left := sets.New[string]()
			for seed := range uint64(8) {
				left.Insert(leftByProgram(t, seed, test.program))
			}
			if isComplete := left.Equal(sets.New(complete)); isComplete != test.isComplete {
				t.Errorf("cuts left %q, want only %q: %t", sets.List(left), complete, test.isComplete)
			}
		})
	}
}

// leftByProgram returns the state after a program and a power cut.
func leftByProgram(t *testing.T, seed uint64, program string) string {
	t.Helper()
	dir := t.TempDir()
	system, err := Mount(dir, seed)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := system.Unmount(); err != nil {
			t.Error(err)
		}
	}()
	run(t, dir, program)
	if err := system.Cut(); err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(run(t, dir, `for file in a b d/c; do if [ -e $file ]; then echo "$file=$(cat $file)"; fi; done`))
	slices.Sort(files)
	return strings.Join(files, " ")
}

// run runs a shell program in a directory and returns its output. It runs in another process, which changes to the directory
// itself, because a process that waits for the file system that it serves may deadlock.
func run(t *testing.T, dir, program string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "sh", "-e", "-c", `cd "$0"; `+program, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", program, err, output)
	}
	return string(output)
}
