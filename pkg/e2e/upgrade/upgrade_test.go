// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// formerServerVariable is the environment variable with the program of the former release.
const formerServerVariable = "MODELBOX_E2E_FORMER_SERVER"

// putTimeout is the timeout for a write to etcd.
const putTimeout = 2 * time.Second

// TestUpgradeLeavesApplicationsAlone upgrades the server of the former release to this release, downgrades it, and upgrades it
// again.
func TestUpgradeLeavesApplicationsAlone(t *testing.T) {
	former := os.Getenv(formerServerVariable)
	if former == "" {
		t.Skip(formerServerVariable + " is not set")
	}
	present := framework.Binary("modelbox-apiserver")
	c := newCluster(t, former)
	c.sync() // what the status has put off is written with this
	before, writes := c.running(), len(c.childWrites())
	t.Logf("%d objects, children and pods", len(before))
	for _, step := range []struct{ name, program string }{
		{"upgrade", present},
		{"downgrade", former},
		{"upgrade again", present},
	} {
		if !t.Run(step.name, func(t *testing.T) {
			c := c.in(t)
			c.replaceServer(step.program)
			framework.ExpectEqual(t, "UIDs, generations and restarts", before, c.running())
			var written []string
			for _, write := range c.childWrites()[writes:] {
				written = append(written, write.Verb+" "+write.RequestURI)
			}
			framework.ExpectEqual(t, "writes of children", []string(nil), written)
		}) {
			return
		}
	}
	t.Run("what a later release has stored", func(t *testing.T) { c.in(t).expectRefusal(before) })
}

func (c *cluster) in(t *testing.T) *cluster {
	copied := *c
	copied.Namespace = c.Namespace.In(t)
	return &copied
}

// running returns the UIDs of the running objects by kind and name. A UID changes if an object is created again.
func (c *cluster) running() map[string]string {
	c.T.Helper()
	running := map[string]string{}
	for _, object := range c.list(append(childKinds, kinds...)...) {
		running[describe(object)] = fmt.Sprintf("%s generation %d", object.GetUID(), object.GetGeneration())
	}
	pods, err := c.ControlPlane.KubeClient.CoreV1().Pods(namespace).List(c.Ctx, metav1.ListOptions{})
	if err != nil {
		c.T.Fatal(err)
	}
	for _, pod := range pods.Items {
		restarts := 0
		for _, container := range pod.Status.ContainerStatuses {
			restarts += int(container.RestartCount)
		}
		running["Pod "+pod.Name] = fmt.Sprintf("%s restarts %d", pod.UID, restarts)
	}
	return running
}

// childWrites returns the writes of the servers to the cluster. It leaves out events, because they only report writes.
func (c *cluster) childWrites() []auditv1.Event {
	c.T.Helper()
	var writes []auditv1.Event
	for _, write := range framework.ReadWrites(c.T, c.ControlPlane.ClusterAuditLog(), namespace) {
		if write.User.Username == framework.ServerUser && write.ObjectRef.Resource != "events" {
			writes = append(writes, write)
		}
	}
	return writes
}

// expectRefusal stores a box with a field of a later release: the server must end, and must not serve until the box is removed.
func (c *cluster) expectRefusal(before map[string]string) {
	box := c.list(kinds[0])[0]
	client := c.etcdClient()
	known := c.stored(client, box)
	pid := c.ControlPlane.ServerPID(c.T)
	if _, err := client.Put(c.Ctx, keyOf(box), withLaterField(c.T, known)); err != nil {
		c.T.Fatal(err)
	}
	c.Eventually("the server says why it does not run", func() error {
		if c.ControlPlane.ServerPID(c.T) == pid {
			return errors.New("it still runs")
		}
		log, err := os.ReadFile(filepath.Join(c.ControlPlane.Dir, "logs", framework.ServerProcess+".log"))
		if err != nil {
			return err
		}
		if !strings.Contains(string(log), "a later release has stored fields that this release would drop") {
			return errors.New("its log does not say it")
		}
		return nil
	})

	// The embedded etcd only runs for a moment at each start of the server.
	c.Eventually("the field is taken away", func() error {
		ctx, cancel := context.WithTimeout(c.Ctx, putTimeout)
		defer cancel()
		_, err := client.Put(ctx, keyOf(box), string(known))
		return err
	})
	c.Eventually("the server is back", func() error {
		_, err := c.get(box)
		return err
	})
	c.sync()
	framework.ExpectEqual(c.T, "UIDs, generations and restarts", before, c.running())
}

// withLaterField adds an unknown field to the spec of a stored object, like a later release.
func withLaterField(t *testing.T, stored []byte) string {
	t.Helper()
	const prefix, specNumber = "k8s\x00", 2
	envelope := &runtime.Unknown{}
	if err := envelope.Unmarshal(stored[len(prefix):]); err != nil {
		t.Fatal(err)
	}
	later := protowire.AppendString(protowire.AppendTag(nil, 5000, protowire.BytesType), "later")
	// Decoding merges a message that occurs twice.
	envelope.Raw = protowire.AppendBytes(protowire.AppendTag(envelope.Raw, specNumber, protowire.BytesType), later)
	data, err := envelope.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return prefix + string(data)
}
