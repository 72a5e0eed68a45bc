// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const encryptionConfiguration = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: ["*.model.github.com"]
  providers:
  - secretbox: {keys: [{name: key1, secret: c2VjcmV0IGlzIHNlY3VyZSwgb3IgaXMgaXQ/Pz8/Pz8=}]}
`

// TestStoreIsEncryptedInPlace encrypts what is stored with the commands of docs/growth.md, and starts the server without the key
// while the cluster's garbage collector runs. It is not parallel: it starts servers.
func TestStoreIsEncryptedInPlace(t *testing.T) {
	if os.Getenv(growthVariable) == "" {
		t.Skipf("%s is not set", growthVariable)
	}
	d := newDisaster(t)
	config := filepath.Join(t.TempDir(), "encryption.yaml")
	configure := func(content string) {
		if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := d.state()
	expectStoredAs(t, d, "k8s\x00")

	configure(encryptionConfiguration + "  - identity: {}\n")
	d.restartWith("--encryption-provider-config=" + config)
	d.Eventually("all objects are rewritten", func() error {
		objects := d.Kubectl.Run("get", "modelboxes,modelstacks,networks.model.github.com", "--all-namespaces", "--output=json")
		run := framework.RunKubectl(d.ControlPlane.KubectlCommand(d.Ctx, "replace", "--filename=-"), objects)
		if run.Err != nil {
			return fmt.Errorf("%w: %s", run.Err, run.Stderr)
		}
		return nil
	})
	expectStoredAs(t, d, "k8s:enc:secretbox:v1:key1:")
	d.expectUntouched(before)

	configure(encryptionConfiguration)
	d.restartWith("--encryption-provider-config=" + config)
	d.expectUntouched(before)

	// Without the key.
	pid := d.stopServer()
	d.setFlags()
	d.ControlPlane.SignalProcess(t, controllerManagerProcess, syscall.SIGKILL)
	if err := os.Remove(d.flagsFile + heldSuffix); err != nil {
		t.Fatal(err)
	}
	server := d.ControlPlane.DirectClient(t)
	d.Eventually("the server says what it cannot read", func() error {
		answer, err := server.Get().AbsPath("/readyz/store-recovery").DoRaw(d.Ctx)
		if err == nil || !strings.Contains(string(answer), "identity transformer tried to read encrypted data") {
			return fmt.Errorf("%w: %s", err, answer)
		}
		return nil
	})
	// The garbage collector collects meanwhile, but nothing of ours.
	canary := d.collectCanary()
	d.setFlags("--encryption-provider-config=" + config)
	d.ControlPlane.SignalServer(t, syscall.SIGTERM)
	d.AwaitServerRestart(pid)
	d.expectUntouched(before)
	t.Logf("%d boxes, %d stacks and %d networks are encrypted; %s was collected meanwhile", len(before.Boxes), len(before.Stacks), len(before.Networks), canary)
}

// restartWith restarts the server in order, with these flags.
func (d *disaster) restartWith(flags ...string) {
	d.T.Helper()
	pid := d.ControlPlane.ServerPID(d.T)
	d.setFlags(flags...)
	d.ControlPlane.SignalServer(d.T, syscall.SIGTERM)
	d.AwaitServerRestart(pid)
}

// expectUntouched checks that objects, children and pods are what they were, and that no child was written.
func (d *disaster) expectUntouched(before disasterState) {
	d.T.Helper()
	after := d.state()
	if diff := cmp.Diff(before, after, cmpopts.IgnoreUnexported(disasterState{})); diff != "" {
		d.T.Errorf("-before +after:\n%s", diff)
	}
	if after.writes != before.writes {
		d.T.Errorf("%d writes of children", after.writes-before.writes)
	}
}

// collectCanary has the garbage collector delete a ConfigMap whose owner is gone, and returns its name.
func (d *disaster) collectCanary() string {
	d.T.Helper()
	configMaps := d.ControlPlane.KubeClient.CoreV1().ConfigMaps(d.Name)
	owner, err := configMaps.Create(d.Ctx, configMapNamed("canary-owner"), metav1.CreateOptions{})
	if err != nil {
		d.T.Fatal(err)
	}
	owned := configMapNamed("canary")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	if _, err := configMaps.Create(d.Ctx, owned, metav1.CreateOptions{}); err != nil {
		d.T.Fatal(err)
	}
	if err := configMaps.Delete(d.Ctx, owner.Name, metav1.DeleteOptions{}); err != nil {
		d.T.Fatal(err)
	}
	framework.Eventually(d.T, framework.CollectorPatience, "the garbage collector collects", func() error {
		_, err := configMaps.Get(d.Ctx, owned.Name, metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	return owned.Name
}

// expectStoredAs checks that all objects are stored as bytes that begin with the prefix.
func expectStoredAs(t *testing.T, d *disaster, prefix string) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + filepath.Join(d.dataDir(), "client.sock")}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	stored, err := client.Get(t.Context(), "/registry/model.github.com/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, pair := range stored.Kvs {
		if !strings.HasPrefix(string(pair.Value), prefix) {
			t.Errorf("%s is stored as %.40q", pair.Key, pair.Value)
		}
		kinds[strings.Split(string(pair.Key), "/")[3]] = true
	}
	if diff := cmp.Diff(map[string]bool{"modelboxes": true, "modelstacks": true, "networks": true}, kinds); diff != "" {
		t.Errorf("kinds that are stored: -want +got:\n%s", diff)
	}
}
