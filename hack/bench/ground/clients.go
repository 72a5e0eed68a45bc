// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ground

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// unversioned is the configuration of a client that sends and takes bytes.
func unversioned(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	return config
}

// flagOf returns the value of a flag that a process was started with.
func flagOf(pid int, name string) (string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "", fmt.Errorf("reading the flags of process %d: %w", pid, err)
	}
	for argument := range strings.SplitSeq(string(content), "\x00") {
		if value, found := strings.CutPrefix(argument, "--"+name+"="); found {
			return value, nil
		}
	}
	return "", fmt.Errorf("process %d was started without --%s", pid, name)
}
