// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadIsOfThatProcess(t *testing.T) {
	before, err := Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		after, err := Read(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if after.CPU > before.CPU {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("this process uses no CPU: %s", after.CPU)
		}
	}
	if before.Resident == 0 || before.Peak < before.Resident {
		t.Errorf("resident %d, peak %d", before.Resident, before.Peak)
	}
}

func TestResetPeakForgetsWhatWas(t *testing.T) {
	// The shell reads a long line, and forgets it.
	command := exec.Command("sh", "-c", `line=$(head -c 16777216 /dev/zero | tr '\0' x); unset line; echo done; read -r _`)
	said, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	before, err := Read(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := ResetPeak(command.Process.Pid); err != nil {
		t.Fatal(err)
	}
	after, err := Read(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if before.Peak < 16<<20 || after.Peak > before.Peak/2 {
		t.Errorf("the peak is %d bytes before and %d after, with %d resident", before.Peak, after.Peak, after.Resident)
	}
}

func TestAgeGrowsWithTime(t *testing.T) {
	command := exec.Command("sleep", "60")
	began := time.Now()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	age, err := Age(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if passed := time.Since(began); age < 0 || age > passed+tick {
		t.Errorf("the process is %s old, and was started %s ago", age, passed)
	}
}

func TestUsages(t *testing.T) {
	before := Usages{"etcd": {CPU: time.Second, Resident: 100, Peak: 100}, "server": {CPU: 2 * time.Second, Resident: 50, Peak: 80}}
	after := Usages{"etcd": {CPU: 3 * time.Second, Resident: 90, Peak: 130}, "server": {CPU: 2500 * time.Millisecond, Resident: 40, Peak: 45}}
	if diff := cmp.Diff(map[string]float64{"etcd": 2, "server": 0.5}, after.CPUSince(before)); diff != "" {
		t.Errorf("CPU: -want +got:\n%s", diff)
	}
	if got := after.PeakSince(before); got != 30 {
		t.Errorf("the peak has grown by %v, want by the 30 of etcd", got)
	}
}

func TestNewProcessesHaveUsedAllOfTheirCPUSince(t *testing.T) {
	before := Usages{"server": {PID: 7, CPU: 5 * time.Second}, "gone": {PID: 8, CPU: time.Second}}
	after := Usages{"server": {PID: 9, CPU: 2 * time.Second}, "operator": {PID: 10, CPU: time.Second}}
	if diff := cmp.Diff(map[string]float64{"server": 2, "operator": 1}, after.CPUSince(before)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
