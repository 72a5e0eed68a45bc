// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asSupervisor makes the test binary a supervisor of one part, which the test kills.
const asSupervisor = "TEST_AS_SUPERVISOR_IN"

func TestMain(m *testing.M) {
	if folder := os.Getenv(asSupervisor); folder != "" {
		if err := New(folder, folder, folder, func(string) {}).Start(context.Background(), sleeper("victim")); err != nil {
			panic(err)
		}
		fmt.Println("started")
		select {}
	}
	os.Exit(m.Run())
}

func TestStartWaitsUntilReady(t *testing.T) {
	s, _ := newTestSupervisor(t)
	asked := 0
	part := sleeper("slow")
	part.Ready = func(context.Context) error {
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	}
	if err := s.Start(t.Context(), part); err != nil {
		t.Fatal(err)
	}
	if asked != 3 {
		t.Errorf("asked %d times whether it is ready, want 3", asked)
	}
}

func TestDeathBeforeReadyIsAnError(t *testing.T) {
	s, folder := newTestSupervisor(t)
	part := shell("broken", "echo wrong flag; exit 3")
	part.Ready = func(context.Context) error { return errors.New("not yet") }

	err := s.Start(t.Context(), part)

	var blamed *PartError
	if !errors.As(err, &blamed) {
		t.Fatalf("error = %v, want one that blames a part", err)
	}
	if blamed.Part != "broken" || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error = %v", err)
	}
	if blamed.Log != filepath.Join(folder, "broken.log") {
		t.Errorf("log = %s", blamed.Log)
	}
	if log, _ := os.ReadFile(blamed.Log); string(log) != "wrong flag\n" {
		t.Errorf("log says %q", log)
	}
}

func TestPartThatIsKilledComesBack(t *testing.T) {
	s, folder := newTestSupervisor(t)
	if err := s.Start(t.Context(), sleeper("part")); err != nil {
		t.Fatal(err)
	}
	first := pidOf(t, folder, "part")
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another process runs", func() bool {
		pid := pidOf(t, folder, "part")
		return pid != first && alive(pid)
	})
}

func TestRestartReplacesTheProcess(t *testing.T) {
	s, folder := newTestSupervisor(t)
	if err := s.Start(t.Context(), sleeper("part")); err != nil {
		t.Fatal(err)
	}
	first := pidOf(t, folder, "part")
	if err := s.Restart(t.Context(), "part"); err != nil {
		t.Fatal(err)
	}
	if pid := pidOf(t, folder, "part"); pid == first || !alive(pid) || alive(first) {
		t.Errorf("process %d (alive: %t) after %d (alive: %t)", pid, alive(pid), first, alive(first))
	}
}

func TestStopEndsLastStartedFirst(t *testing.T) {
	s, folder := newTestSupervisor(t)
	order := filepath.Join(folder, "order")
	var parts []Part
	for _, name := range []string{"a", "b", "c"} {
		ready := filepath.Join(folder, name+".trapped")
		part := shell(name, fmt.Sprintf("trap 'echo %s >> %s; exit' TERM; touch %s; while :; do sleep 0.01; done", name, order, ready))
		part.Ready = func(context.Context) error {
			_, err := os.Stat(ready)
			return err
		}
		parts = append(parts, part)
	}
	if err := s.Start(t.Context(), parts...); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	got, err := os.ReadFile(order)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != "c\nb\na\n" {
		t.Errorf("ended in the order %q", strings.Fields(string(got)))
	}
}

func TestStopInsists(t *testing.T) {
	s, folder := newTestSupervisor(t)
	ready := filepath.Join(folder, "trapped")
	part := shell("stubborn", "trap '' TERM; touch "+ready+"; while :; do sleep 0.01; done")
	part.StopGrace = 50 * time.Millisecond
	part.Ready = func(context.Context) error {
		_, err := os.Stat(ready)
		return err
	}
	if err := s.Start(t.Context(), part); err != nil {
		t.Fatal(err)
	}
	pid := pidOf(t, folder, "stubborn")
	s.Stop()
	if alive(pid) {
		t.Error("still alive")
	}
}

func TestKilledSupervisorTakesItsPartsAlong(t *testing.T) {
	folder := t.TempDir()
	supervisor := exec.Command(os.Args[0])
	supervisor.Env = append(os.Environ(), asSupervisor+"="+folder)
	output, err := supervisor.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := supervisor.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || line != "started\n" {
		t.Fatalf("supervisor says %q, %v", line, err)
	}
	part := pidOf(t, folder, "victim")
	// The environment of a process is empty for a moment after the call of exec.
	eventually(t, "the part runs", func() bool { return alive(part) })
	if err := supervisor.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = supervisor.Wait()
	eventually(t, "the part is gone", func() bool { return !alive(part) })
}

func TestKillLeftoversSparesStrangers(t *testing.T) {
	folder := t.TempDir()
	ours := startMarked(t, folder)
	stranger := startMarked(t, "/elsewhere")
	writePid(t, folder, "ours", ours)
	writePid(t, folder, "reused", stranger)
	writePid(t, folder, "gone", 1<<22-1)

	if err := KillLeftovers(t.Context(), folder, folder); err != nil {
		t.Fatal(err)
	}
	if alive(ours) {
		t.Error("what was left is still alive")
	}
	if !alive(stranger) {
		t.Error("a process of another cluster was killed")
	}
}

func newTestSupervisor(t *testing.T) (s *Supervisor, folder string) {
	t.Helper()
	folder = t.TempDir()
	s = New(folder, folder, folder, func(line string) { t.Log(line) })
	t.Cleanup(s.Stop)
	return s, folder
}

func sleeper(name string) Part { return shell(name, "exec sleep 1000") }

func shell(name, script string) Part {
	return Part{Name: name, Path: "/bin/sh", Args: []string{"-c", script}, StopGrace: 5 * time.Second}
}

func startMarked(t *testing.T, mark string) (pid int) {
	t.Helper()
	command := exec.Command("sleep", "1000")
	command.Env = []string{"PATH=" + os.Getenv("PATH"), markVariable + "=" + mark}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return command.Process.Pid
}

func writePid(t *testing.T, folder, name string, pid int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name+PIDSuffix), []byte(strconv.Itoa(pid)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func pidOf(t *testing.T, folder, name string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name+PIDSuffix))
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(content)))
	return pid
}

// alive returns whether a process runs. It returns false for zombies.
func alive(pid int) bool {
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && len(environment) > 0
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
		}
	}
}
