// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// Each test starts its own control plane, because the programs change the whole cluster.
func TestMain(m *testing.M) { framework.MainWithoutControlPlane(m) }
