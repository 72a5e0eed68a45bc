// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// reloadPatience is longer than a server takes to reload a changed configuration, which it checks once a minute.
	reloadPatience = framework.Patience + time.Minute

	encryptedResources = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: ["*.model.github.com"]
  providers:
`
	identityProvider = "  - identity: {}\n"

	// plainPrefix is the prefix of values that are not encrypted. secretboxPrefix and the name of a key are the prefix of encrypted
	// values.
	plainPrefix     = "modelbox:zstd:v1:"
	secretboxPrefix = "k8s:enc:secretbox:v1:"
)

// secretboxProvider returns a provider with the keys. Their names must have four letters.
func secretboxProvider(names ...string) string {
	provider := "  - secretbox:\n      keys:\n"
	for _, name := range names {
		provider += fmt.Sprintf("      - {name: %s, secret: %s}\n", name, base64.StdEncoding.EncodeToString([]byte(strings.Repeat(name, 8))))
	}
	return provider
}

// TestStoreIsEncryptedInPlace encrypts the stored objects with the commands of docs/growth.md. Then it starts the server without
// the key while the garbage collector of the cluster runs. It is not parallel, because it starts servers.
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
	socket := "unix://" + filepath.Join(d.dataDir(), "client.sock")
	expectStoredAs(t, socket, plainPrefix)

	configure(encryptedResources + secretboxProvider("key1") + identityProvider)
	d.restartWith("--encryption-provider-config=" + config)
	d.rewriteAll()
	expectStoredAs(t, socket, secretboxPrefix+"key1:")
	d.expectUntouched(before)

	configure(encryptedResources + secretboxProvider("key1"))
	d.restartWith("--encryption-provider-config=" + config)
	d.expectUntouched(before)

	// Start the server without the key.
	pid := d.stopServer()
	d.setFlags()
	d.ControlPlane.SignalProcess(t, framework.ControllerManagerProcess, syscall.SIGKILL)
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
	// The garbage collector deletes other objects meanwhile, but no children.
	canary := d.collectCanary()
	d.setFlags("--encryption-provider-config=" + config)
	d.ControlPlane.SignalServer(t, syscall.SIGTERM)
	d.AwaitServerRestart(pid)
	d.expectUntouched(before)
	t.Logf("%d boxes, %d stacks and %d networks are encrypted; %s was collected meanwhile", len(before.Boxes), len(before.Stacks), len(before.Networks), canary)
}

// TestExternalEtcdIsEncryptedWithoutRestart turns on encryption, rotates the key, and turns off encryption, with an external etcd
// of three members and the commands of docs/growth.md, while the server runs. It is not parallel, because it starts servers.
func TestExternalEtcdIsEncryptedWithoutRestart(t *testing.T) {
	if os.Getenv(growthVariable) == "" {
		t.Skipf("%s is not set", growthVariable)
	}
	d := newDisaster(t)
	config := filepath.Join(t.TempDir(), "encryption.yaml")
	configure := func(providers ...string) string {
		content := strings.Join(append([]string{encryptedResources}, providers...), "")
		if err := os.WriteFile(config+".new", []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(config+".new", config); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
	}
	configure(identityProvider, secretboxProvider("key1"))
	members := framework.StartEtcdCluster(t, d.ControlPlane)
	outside := []string{"--data-dir=", "--etcd-servers=" + framework.ClientURLs(members)}
	before := d.state()
	d.replaceStore(func() {
		d.setFlags(append(outside, "--encryption-provider-config="+config, "--encryption-provider-config-automatic-reload")...)
	})
	d.expectRecovered(before, "Empty")
	before = d.state()
	pid := d.ControlPlane.ServerPID(t)
	server := d.ControlPlane.DirectClient(t)
	for _, step := range []struct {
		providers []string
		prefix    string
	}{
		{[]string{secretboxProvider("key1"), identityProvider}, secretboxPrefix + "key1:"},
		{[]string{secretboxProvider("key2", "key1")}, secretboxPrefix + "key2:"},
		{[]string{identityProvider, secretboxProvider("key2")}, plainPrefix},
	} {
		hash := configure(step.providers...)
		framework.Eventually(t, reloadPatience, "the server has read another configuration", func() error {
			metrics := framework.Scrape(t, server)
			if framework.Sum(metrics, "apiserver_encryption_config_controller_last_config_info", map[string]string{"hash": hash}) != 1 {
				return fmt.Errorf("it is not %s", hash)
			}
			return nil
		})
		d.rewriteAll()
		for _, member := range members {
			expectStoredAs(t, member.ClientURL, step.prefix)
		}
		d.expectUntouched(before)
	}
	if now := d.ControlPlane.ServerPID(t); now != pid {
		t.Errorf("the server was restarted: process %d and before %d", now, pid)
	}
	d.restartWith(outside...)
	d.expectUntouched(before)
}

// rewriteAll rewrites all objects with the commands of docs/growth.md.
func (d *disaster) rewriteAll() {
	d.T.Helper()
	d.Eventually("all objects are rewritten", func() error {
		objects := d.Kubectl.Run("get", "modelboxes,modelstacks,networks.model.github.com", "--all-namespaces", "--output=json")
		run := framework.RunKubectl(d.ControlPlane.KubectlCommand(d.Ctx, "replace", "--filename=-"), objects)
		if run.Err != nil {
			return fmt.Errorf("%w: %s", run.Err, run.Stderr)
		}
		return nil
	})
}

// restartWith restarts the server gracefully, with these flags.
func (d *disaster) restartWith(flags ...string) {
	d.T.Helper()
	pid := d.ControlPlane.ServerPID(d.T)
	d.setFlags(flags...)
	d.ControlPlane.SignalServer(d.T, syscall.SIGTERM)
	d.AwaitServerRestart(pid)
}

// expectUntouched checks that objects, children and pods have not changed, and that no child was written.
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

// collectCanary creates a ConfigMap whose owner does not exist, waits until the garbage collector deletes it, and returns its name.
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

// expectStoredAs checks that all values in an etcd have the prefix, and are only readable if it is plainPrefix.
func expectStoredAs(t *testing.T, etcd, prefix string) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}})
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
		key, value := string(pair.Key), string(pair.Value)
		if !strings.HasPrefix(value, prefix) {
			t.Errorf("%s is stored as %.40q", key, value)
		}
		if isPlain := strings.Contains(value, plainPrefix); isPlain != (prefix == plainPrefix) {
			t.Errorf("%s can be read: %t", key, isPlain)
		}
		kinds[strings.Split(key, "/")[3]] = true
	}
	if diff := cmp.Diff(map[string]bool{"modelboxes": true, "modelstacks": true, "networks": true}, kinds); diff != "" {
		t.Errorf("kinds that are stored: -want +got:\n%s", diff)
	}
}
