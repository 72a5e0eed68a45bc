// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestMain removes the permission of the server to add ephemeral containers at the end, because other tests expect a server without
// it.
func TestMain(m *testing.M) { framework.Main(m, framework.PodDebuggerManifest()) }
