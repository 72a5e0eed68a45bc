// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the server as its users meet it: through a real Kubernetes control plane, with kubectl and with
// the generated clients.
//
// The tests start a control plane of their own from _output/bin, which "make build" fills, and stop it again. While
// writing tests it is quicker to keep one running:
//
//	_output/bin/localcluster up --dir /tmp/try
//	MODELBOX_E2E_DIR=/tmp/try go test ./pkg/e2e -run TestHealing
//	_output/bin/localcluster down --dir /tmp/try
package e2e
