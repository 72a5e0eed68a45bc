// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestMain takes the right to add ephemeral containers from the server again, which others test that it does not have.
func TestMain(m *testing.M) { framework.Main(m, framework.PodDebuggerManifest()) }
