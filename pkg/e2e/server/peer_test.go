// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// peer is a second server of a control plane. The APIService does not route to it.
type peer struct {
	*framework.Replica
	// boxes is the client of the boxes of this server.
	boxes versioned.Interface
}

// startPeer starts a second server with the flags of the first one and additional flags, and waits until it is ready.
func startPeer(t *testing.T, p *framework.ControlPlane, flags ...string) *peer {
	t.Helper()
	second := &peer{Replica: framework.NewReplica(t, p, "peer", "", flags...)}
	second.Start(t)

	config := rest.CopyConfig(p.Config)
	config.Host = "https://" + second.Address()
	config.CAData, config.CAFile = nil, filepath.Join(p.Dir, "modelbox", "ca.crt")
	var err error
	if second.boxes, err = versioned.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	framework.Eventually(t, framework.Patience, "the second server is ready", func() error {
		return second.boxes.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error()
	})
	return second
}

// logs returns nil if a line of the log contains the text.
func (p *peer) logs(text string) error {
	content, err := os.ReadFile(p.Log)
	if err != nil {
		return err
	}
	if !strings.Contains(string(content), text) {
		return errors.New("its log does not say " + text)
	}
	return nil
}

// servedBy returns the namespace with clients of the server.
func servedBy(n *framework.Namespace, p *peer) *framework.Namespace {
	copied := *n
	copied.Boxes = p.boxes.ModelV1().ModelBoxes(n.Name)
	return &copied
}
