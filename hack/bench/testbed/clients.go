// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// UserClient returns a client of the built-in APIs for the user, in protobuf and without a client-side rate limit.
func (bed *Testbed) UserClient() (kubernetes.Interface, error) {
	config := rest.CopyConfig(bed.User)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = config.ContentType
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating the user's client: %w", err)
	}
	return client, nil
}

// unversioned returns the configuration of a client that sends and receives bytes.
func unversioned(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	return config
}

// flagOf returns the value of a flag of a process.
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
