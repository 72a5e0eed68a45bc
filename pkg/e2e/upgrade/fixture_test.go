// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package upgrade

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
)

// namespace is the same in every record of a release.
const namespace = metav1.NamespaceDefault

// kinds are the kinds of the objects.
var kinds = []schema.GroupVersionResource{
	modelv1.SchemeGroupVersion.WithResource("modelboxes"),
	modelv1.SchemeGroupVersion.WithResource("modelstacks"),
	modelv1.SchemeGroupVersion.WithResource("networks"),
}

// childKinds are the kinds of the children of the objects.
var childKinds = []schema.GroupVersionResource{
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
	{Group: "apps", Version: "v1", Resource: "controllerrevisions"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "configmaps"},
	{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	networkattachment.Resource,
}

// cluster is one whose server can be replaced, with the objects of testdata.
type cluster struct {
	*framework.Namespace
	dynamic dynamic.Interface
	// programFile names the program that the server is started from.
	programFile string
}

// newCluster starts a cluster with the program as its server, and waits until all objects are ready.
func newCluster(t *testing.T, program string) *cluster {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(dir, "server")
	c := &cluster{programFile: filepath.Join(dir, "program")}
	for file, content := range map[string]string{
		script:        fmt.Sprintf("#!/bin/sh\nexec \"$(cat %q)\" \"$@\"\n", c.programFile),
		c.programFile: program,
	} {
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := framework.NewControlPlane(t, "--server="+script)
	c.Namespace = p.NewNamespace(t)
	var err error
	if c.dynamic, err = dynamic.NewForConfig(p.Config); err != nil {
		t.Fatal(err)
	}
	c.ServeNetworkAttachments()
	c.kubectl("apply", "--filename="+filepath.Join("testdata", "objects.yaml"))
	c.awaitReady()
	return c
}

func (c *cluster) kubectl(arguments ...string) {
	c.T.Helper()
	run := framework.RunKubectl(c.ControlPlane.KubectlCommand(c.Ctx, append(arguments, "--namespace="+namespace)...), "")
	if run.Err != nil {
		c.T.Fatalf("kubectl %v: %v\n%s", arguments, run.Err, run.Stderr)
	}
}

// awaitReady waits until all children of the objects exist.
func (c *cluster) awaitReady() {
	c.T.Helper()
	for _, object := range c.list(kinds...) {
		c.Eventually(describe(object)+" is ready", func() error {
			now, err := c.get(object)
			if err != nil {
				return err
			}
			conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
			for _, condition := range conditions {
				if condition := condition.(map[string]any); condition["type"] == modelv1.ConditionReady && condition["status"] == string(metav1.ConditionTrue) {
					return nil
				}
			}
			return fmt.Errorf("its conditions are %v", conditions)
		})
	}
}

// list returns all objects of the kinds.
func (c *cluster) list(of ...schema.GroupVersionResource) []*unstructured.Unstructured {
	c.T.Helper()
	var objects []*unstructured.Unstructured
	for _, resource := range of {
		list, err := c.dynamic.Resource(resource).Namespace(namespace).List(c.Ctx, metav1.ListOptions{})
		if err != nil {
			c.T.Fatalf("listing %s: %v", resource.Resource, err)
		}
		for i := range list.Items {
			objects = append(objects, &list.Items[i])
		}
	}
	return objects
}

// client returns the client for the kind of an object.
func (c *cluster) client(object *unstructured.Unstructured) dynamic.ResourceInterface {
	return c.dynamic.Resource(resourceOf(object)).Namespace(namespace)
}

func (c *cluster) get(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.client(object).Get(c.Ctx, object.GetName(), metav1.GetOptions{})
}

// resourceOf returns the resource of one of the objects.
func resourceOf(object *unstructured.Unstructured) schema.GroupVersionResource {
	for _, resource := range kinds {
		if strings.HasPrefix(resource.Resource, strings.ToLower(object.GetKind())) {
			return resource
		}
	}
	panic("an object of kind " + object.GetKind())
}

func describe(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// replaceServer replaces the server by the program, and waits until it serves and has reconciled every object.
func (c *cluster) replaceServer(program string) {
	c.T.Helper()
	if err := os.WriteFile(c.programFile, []byte(program), 0o600); err != nil {
		c.T.Fatal(err)
	}
	former := c.ControlPlane.ServerPID(c.T)
	c.ControlPlane.SignalServer(c.T, syscall.SIGTERM)
	c.AwaitServerRestart(former)
	if now, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.ControlPlane.ServerPID(c.T))); err != nil || now != program {
		c.T.Fatalf("the server is %q: %v", now, err)
	}
	c.sync()
}

// sync triggers a sync of every object: it changes the status, and waits until the sync restores it.
func (c *cluster) sync() {
	c.T.Helper()
	for _, object := range c.list(kinds...) {
		patch := []byte(`{"status": {"observedGeneration": 0}}`)
		c.Eventually("the status of "+describe(object)+" is written", func() error {
			_, err := c.client(object).Patch(c.Ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
			return err
		})
		c.Eventually(describe(object)+" is synced", func() error {
			now, err := c.get(object)
			if err != nil {
				return err
			}
			if observed, _, _ := unstructured.NestedInt64(now.Object, "status", "observedGeneration"); observed != now.GetGeneration() {
				return errors.New("its status is not restored")
			}
			return nil
		})
	}
}

// etcdClient returns a client of the etcd of the server.
func (c *cluster) etcdClient() *clientv3.Client {
	c.T.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + filepath.Join(c.ControlPlane.Dir, "modelbox", "data", "client.sock")}})
	if err != nil {
		c.T.Fatal(err)
	}
	c.T.Cleanup(func() { _ = client.Close() })
	return client
}

// keyOf returns the key of an object in etcd.
func keyOf(object *unstructured.Unstructured) string {
	resource := resourceOf(object)
	return strings.Join([]string{"/registry", resource.Group, resource.Resource, object.GetNamespace(), object.GetName()}, "/")
}

// stored returns the decompressed value of an object in etcd.
func (c *cluster) stored(client *clientv3.Client, object *unstructured.Unstructured) []byte {
	c.T.Helper()
	response, err := client.Get(c.Ctx, keyOf(object))
	if err != nil {
		c.T.Fatal(err)
	}
	if len(response.Kvs) != 1 {
		c.T.Fatalf("there are %d values at %s", len(response.Kvs), keyOf(object))
	}
	data, _, err := compression.Decompress(response.Kvs[0].Value)
	if err != nil {
		c.T.Fatal(err)
	}
	return data
}
