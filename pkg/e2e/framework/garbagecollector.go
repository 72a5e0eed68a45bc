// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// AwaitCollectorWatches waits until the garbage collector of the cluster watches boxes. If an object was created before that, the
// garbage collector repeatedly gets its owner, even after its watch has begun. If no server serves the group, it then deletes the
// object.
func (n *Namespace) AwaitCollectorWatches() {
	n.T.Helper()
	manager := n.ControlPlane.controllerManager(n.T)
	// A paused box has no children.
	box, err := n.Boxes.Create(n.Ctx, &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "watched-"},
		Spec:       modelv1.ModelBoxSpec{Image: "nginx:1.7.9", Paused: true},
	}, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	// The graph only has objects that own objects or have owners.
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: box.Name + "-", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(box, modelv1.SchemeGroupVersion.WithKind("ModelBox"))},
	}}
	if _, err := n.ControlPlane.KubeClient.CoreV1().ConfigMaps(box.Namespace).Create(n.Ctx, owned, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	virtual := regexp.MustCompile(`(?s)\buid="` + string(box.UID) + `".*?\bvirtual="(\w+)"`)
	Eventually(n.T, CollectorPatience, "the garbage collector watches boxes", func() error {
		graph, err := manager.Get().AbsPath("/debug/controllers/garbage-collector-controller/graph").Param("uid", string(box.UID)).DoRaw(n.Ctx)
		if err != nil {
			return fmt.Errorf("reading its graph: %w", err)
		}
		if node := virtual.FindSubmatch(graph); node == nil || string(node[1]) != "false" {
			return fmt.Errorf("it has not seen box %s:\n%s", box.Name, graph)
		}
		return nil
	})
	if err := n.Boxes.Delete(n.Ctx, box.Name, metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
}

// controllerManager returns the configuration of clients of kube-controller-manager as administrator.
func (p *ControlPlane) controllerManager(t *testing.T) rest.Interface {
	t.Helper()
	const portFlag = "--secure-port="
	for _, argument := range CommandLine(t, p.processID(t, ControllerManagerProcess)) {
		port, found := strings.CutPrefix(argument, portFlag)
		if !found {
			continue
		}
		config := rest.CopyConfig(p.Config)
		config.Host = "https://localhost:" + port
		config.TLSClientConfig.CAFile, config.TLSClientConfig.CAData, config.TLSClientConfig.Insecure = "", nil, true // its certificate is self-signed
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return client.Discovery().RESTClient()
	}
	t.Fatalf("the kube-controller-manager runs without %s", portFlag)
	return nil
}
