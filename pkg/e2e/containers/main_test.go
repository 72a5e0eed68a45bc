// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestMain(m *testing.M) { framework.MainWithoutControlPlane(m) }
