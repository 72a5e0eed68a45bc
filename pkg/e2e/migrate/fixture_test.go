// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	apiService = "v1.model.github.com"
	definition = "modelboxes.model.github.com"
)

var boxes = modelv1.SchemeGroupVersion.WithResource("modelboxes")

// cluster serves boxes from a CustomResourceDefinition, and has an installed server.
type cluster struct {
	t *testing.T
	*framework.ControlPlane
	dynamic dynamic.Interface
	// apiServiceFile has the APIService of the server.
	apiServiceFile string
	namespaces     []*framework.Namespace
}

// newCluster starts a cluster in the state before a migration.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, ControlPlane: framework.NewControlPlane(t), apiServiceFile: filepath.Join(t.TempDir(), "apiservice.yaml")}
	var err error
	if c.dynamic, err = dynamic.NewForConfig(c.Config); err != nil {
		t.Fatal(err)
	}
	manifest := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(c.kubectl("get", "apiservice", apiService, "--output=json")), manifest); err != nil {
		t.Fatal(err)
	}
	spec, _, _ := unstructured.NestedMap(manifest.Object, "spec")
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": manifest.GetAPIVersion(), "kind": manifest.GetKind(),
		"metadata": map[string]any{"name": apiService}, "spec": spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.apiServiceFile, data, 0o600); err != nil {
		t.Fatal(err)
	}
	c.kubectl("delete", "apiservice", apiService)
	c.kubectl("apply", "--filename=testdata/definition.yaml")
	c.awaitServedByDefinition()
	for range 3 {
		c.namespaces = append(c.namespaces, c.NewNamespace(t))
	}
	return c
}

func (c *cluster) awaitServedByDefinition() {
	c.t.Helper()
	c.kubectl("wait", "--for=create", "apiservice/"+apiService, "--timeout=5m")
	c.kubectl("wait", "--for=condition=Available", "apiservice/"+apiService, "--timeout=5m")
	framework.Eventually(c.t, framework.Patience, "custom resources are served", func() error {
		_, err := c.dynamic.Resource(boxes).List(c.t.Context(), metav1.ListOptions{Limit: 1})
		return err
	})
}

// awaitTakenBack waits until the cluster has replaced the APIService of the server by a local one.
func (c *cluster) awaitTakenBack() {
	c.t.Helper()
	framework.Eventually(c.t, framework.Patience, "the cluster takes the APIService back", func() error {
		if service := c.kubectl("get", "apiservice", apiService, "--output=jsonpath={.spec.service}"); service != "" {
			return fmt.Errorf("its service is %s", service)
		}
		return nil
	})
	c.awaitServedByDefinition()
}

// kubectl runs kubectl and returns its output.
func (c *cluster) kubectl(arguments ...string) string {
	c.t.Helper()
	run := framework.RunKubectl(c.KubectlCommand(c.t.Context(), arguments...), "")
	if run.Err != nil {
		c.t.Fatalf("kubectl %v: %v\n%s", arguments, run.Err, run.Stderr)
	}
	return run.Stdout
}

// command returns the command "kubectl modelbox migrate".
func (c *cluster) command(arguments ...string) *exec.Cmd {
	command := c.KubectlCommand(c.t.Context(), append([]string{"modelbox", "migrate"}, arguments...)...)
	command.Args = slices.Concat([]string{command.Args[0]}, []string{"modelbox", "migrate"}, arguments)
	command.Env = append(command.Env, "PATH="+filepath.Dir(framework.Binary("kubectl"))+":"+os.Getenv("PATH"), "KUBECONFIG="+c.Kubeconfig())
	return command
}

// migrate runs a command that must succeed, and returns its output.
func (c *cluster) migrate(arguments ...string) string {
	c.t.Helper()
	run := framework.RunKubectl(c.command(arguments...), "")
	if run.Err != nil {
		c.t.Fatalf("kubectl modelbox migrate %v: %v\n%s%s", arguments, run.Err, run.Stdout, run.Stderr)
	}
	return run.Stdout
}

// migrateFailing runs a command that must fail, and returns all of its output.
func (c *cluster) migrateFailing(arguments ...string) string {
	c.t.Helper()
	run := framework.RunKubectl(c.command(arguments...), "")
	if run.Err == nil {
		c.t.Fatalf("kubectl modelbox migrate %v did not fail:\n%s", arguments, run.Stdout)
	}
	return run.Stdout + run.Stderr
}

// create creates a custom resource and the children that an operator creates for it.
func (c *cluster) create(object *unstructured.Unstructured) {
	c.t.Helper()
	created, err := c.dynamic.Resource(boxes).Namespace(object.GetNamespace()).Create(c.t.Context(), object, metav1.CreateOptions{FieldManager: "kubectl-create"})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := operate(c.t.Context(), c.KubeClient, created); err != nil {
		c.t.Fatal(err)
	}
}

func convert(object *unstructured.Unstructured, into any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// running has the UIDs of all objects of the boxes by kind and name, and the number of restarts of their pods.
type running map[string]string

// running returns the running objects in the namespaces.
func (c *cluster) running() running {
	c.t.Helper()
	now, err := c.observe(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return now
}

func (c *cluster) observe(ctx context.Context) (running, error) {
	now := running{}
	add := func(kind string, object metav1.Object, more ...any) {
		now[fmt.Sprintf("%s %s/%s", kind, object.GetNamespace(), object.GetName())] = fmt.Sprint(object.GetUID(), more)
	}
	for _, n := range c.namespaces {
		deployments, err := n.Deployments.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range deployments.Items {
			add("Deployment", &deployments.Items[i], deployments.Items[i].Spec.Paused)
		}
		sets, err := c.KubeClient.AppsV1().ReplicaSets(n.Name).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range sets.Items {
			add("ReplicaSet", &sets.Items[i])
		}
		services, err := n.Services.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range services.Items {
			add("Service", &services.Items[i], services.Items[i].Spec.ClusterIP, nodePortsOf(&services.Items[i]))
		}
		configs, err := n.ConfigMaps.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range configs.Items {
			add("ConfigMap", &configs.Items[i])
		}
		pods, err := n.Pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range pods.Items {
			add("Pod", &pods.Items[i], pods.Items[i].Generation, pods.Items[i].DeletionTimestamp)
		}
	}
	return now, nil
}

func nodePortsOf(service *corev1.Service) []int32 {
	var ports []int32
	for i := range service.Spec.Ports {
		ports = append(ports, service.Spec.Ports[i].NodePort)
	}
	return ports
}

// awaitRolledOut waits until all pods of all Deployments are ready.
func (c *cluster) awaitRolledOut(timeout time.Duration) {
	c.t.Helper()
	framework.Eventually(c.t, timeout, "all Deployments are rolled out", func() error {
		for _, n := range c.namespaces {
			list, err := n.Deployments.List(n.Ctx, metav1.ListOptions{ResourceVersion: "0"})
			if err != nil {
				return err
			}
			for i := range list.Items {
				if d := &list.Items[i]; d.Status.ObservedGeneration < d.Generation || d.Status.AvailableReplicas != *d.Spec.Replicas {
					return fmt.Errorf("Deployment %s/%s has %d of %d pods", d.Namespace, d.Name, d.Status.AvailableReplicas, *d.Spec.Replicas)
				}
			}
		}
		return nil
	})
}

// awaitCollector waits until the garbage collector has deleted a new child of a box that does not exist. By then, it has also
// deleted all earlier garbage.
func (c *cluster) awaitCollector() {
	c.t.Helper()
	n := c.NewNamespace(c.t)
	_, err := n.ConfigMaps.Create(n.Ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "canary",
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "ModelBox", Name: "missing", UID: types.UID("missing-" + n.Name),
		}},
	}}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	framework.Eventually(c.t, framework.CollectorPatience, "the garbage collector deletes what belongs to no box", func() error {
		_, err := n.ConfigMaps.Get(n.Ctx, "canary", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %w", err)
	})
}

// owners returns the UIDs of the controllers of all Deployments.
func (c *cluster) owners() map[string]types.UID {
	c.t.Helper()
	owners := map[string]types.UID{}
	for _, n := range c.namespaces {
		list, err := n.Deployments.List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		for i := range list.Items {
			owners[n.Name+"/"+list.Items[i].Name] = controllerOf(&list.Items[i])
		}
	}
	return owners
}

func controllerOf(deployment *appsv1.Deployment) types.UID {
	if controller := metav1.GetControllerOfNoCopy(deployment); controller != nil {
		return controller.UID
	}
	return ""
}
