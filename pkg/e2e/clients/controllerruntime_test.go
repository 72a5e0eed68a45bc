// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestControllerRuntimeClientManagesBox creates, changes and deletes a box with the client of controller-runtime, which most
// controllers use.
func TestControllerRuntimeClientManagesBox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	said := runProgram(n, "controller-runtime", n.Name, framework.Image, framework.NewImage)
	framework.ExpectEqual(t, "answers of the server", []string{
		"create: 25%",
		"get: nginx:1.7.9",
		"watch until Ready: 1",
		"list by image: map[nginx:1.7.9:1 nginx:1.8:0]",
		"list by label: map[ours:1 theirs:0]",
		"read from a cache: nginx:1.7.9, map[ours:1 theirs:0]",
		"apply: Conflict",
		"apply with force: nginx:1.8, generation 2",
		"patch of the status: Checked is true, nginx:1.8",
		"update of the scale: from 1 to 2",
		"delete: NotFound",
	}, strings.Split(strings.TrimSpace(said), "\n"))
}
