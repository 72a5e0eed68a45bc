// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// hidden are the directories of the machine that the programs of a node write to independent of their configuration.
var hidden = []string{"/run", "/var/lib", "/var/log"}

// kernelSettings are the settings that a kubelet sets for the machine. The sandbox hides them by files with the expected values.
var kernelSettings = map[string]string{
	"kernel/panic":         "10",
	"kernel/panic_on_oops": "1",
	"vm/overcommit_memory": "1",
	"vm/panic_on_oom":      "0",
}

// mountOwn hides the directories that must not change on the machine, and mounts the directory of the cluster at Dir.
func mountOwn(directory string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	// The directory may be in a directory that is hidden below.
	opened, err := unix.Open(directory, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", directory, err)
	}
	defer unix.Close(opened)

	for _, folder := range hidden {
		if err := mountTemporary(folder); err != nil {
			return err
		}
	}
	if err := os.Mkdir(Dir, 0o755); err != nil {
		return err
	}
	if err := bind(fmt.Sprintf("/proc/self/fd/%d", opened), Dir); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	return pretendKernelSettings()
}

// mountTemporary mounts a tmpfs. It follows symbolic links, such as /var/run.
func mountTemporary(folder string) error {
	if _, err := os.Stat(folder); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("hiding %s: %w", folder, err)
	}
	return nil
}

func pretendKernelSettings() error {
	for setting, value := range kernelSettings {
		file := filepath.Join("/run", strings.ReplaceAll(setting, "/", "."))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return fmt.Errorf("writing kernel settings: %w", err)
		}
		if err := bind(file, filepath.Join("/proc/sys", setting)); err != nil {
			return err
		}
	}
	return nil
}

func bind(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s at %s: %w", source, target, err)
	}
	return nil
}
