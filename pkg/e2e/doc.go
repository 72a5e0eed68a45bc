// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e has the tests of the server as its users meet it: through a real Kubernetes control plane, with kubectl
// and with the generated clients. There is a package for each subject, and one for what they have in common, framework.
//
// "make test-e2e" runs them all against one control plane. The tests of a single package start one of their own from
// _output/bin, which "make build" fills, and stop it again. While writing tests it is quicker to keep one running:
//
//	_output/bin/localcluster up --dir /tmp/try --server _output/bin/modelbox-apiserver --artifacts artifacts
//	MODELBOX_E2E_DIR=/tmp/try go test ./pkg/e2e/ownership -run TestDeletedAndChangedChildrenAreRestored
//	_output/bin/localcluster down --dir /tmp/try
package e2e
