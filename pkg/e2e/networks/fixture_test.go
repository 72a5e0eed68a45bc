// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/networkattachment"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// cluster is a namespace of a cluster that may serve NetworkAttachmentDefinitions.
type cluster struct {
	*framework.Namespace
	networks    modelclient.NetworkInterface
	definitions dynamic.ResourceInterface
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	n := framework.NewNamespace(t)
	return &cluster{
		Namespace:   n,
		networks:    n.Networks(),
		definitions: n.NetworkAttachments(),
	}
}

// apply applies a Network with the spec.
func (c *cluster) apply(name, spec string) {
	c.T.Helper()
	c.Kubectl.RunWithInput(fmt.Sprintf("{apiVersion: model.github.com/v1, kind: Network, metadata: {name: %s}, spec: {%s}}", name, spec), "apply", "--filename=-")
}

// awaitNetwork returns the network as soon as check returns nil for it.
func (c *cluster) awaitNetwork(name, what string, check func(*modelv1.Network) error) *modelv1.Network {
	c.T.Helper()
	var network *modelv1.Network
	c.Eventually("network "+name+" "+what, func() (err error) {
		if network, err = c.networks.Get(c.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(network)
	})
	return network
}

// awaitCondition waits until the Network has the condition for its current generation, with the words in its message.
func (c *cluster) awaitCondition(name, conditionType string, status metav1.ConditionStatus, reason string, words ...string) {
	c.T.Helper()
	c.awaitNetwork(name, fmt.Sprintf("is %s=%s, %s", conditionType, status, reason), func(network *modelv1.Network) error {
		condition := meta.FindStatusCondition(network.Status.Conditions, conditionType)
		switch {
		case condition == nil || condition.ObservedGeneration != network.Generation:
			return fmt.Errorf("its conditions are %+v", network.Status.Conditions)
		case condition.Status != status, condition.Reason != reason, !framework.ContainsAll(condition.Message, words):
			return fmt.Errorf("%s is %s, reason %s: %s", conditionType, condition.Status, condition.Reason, condition.Message)
		}
		return nil
	})
}

// awaitConfig waits until the NetworkAttachmentDefinition exists with the text in its configuration.
func (c *cluster) awaitConfig(name string, words ...string) {
	c.T.Helper()
	c.Eventually(fmt.Sprintf("NetworkAttachmentDefinition %s has %q", name, words), func() error {
		definition, err := c.definitions.Get(c.Ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if config := configOf(definition); !framework.ContainsAll(config, words) {
			return errors.New(config)
		}
		return nil
	})
}

func configOf(definition *unstructured.Unstructured) string {
	config, _, _ := unstructured.NestedString(definition.Object, "spec", "config")
	return config
}

// attach sets the addresses of a pod in its annotation, like Multus.
func (c *cluster) attach(pod, status string) {
	c.T.Helper()
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, networkattachment.StatusAnnotation, status)
	if _, err := c.Pods.Patch(c.Ctx, pod, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		c.T.Fatal(err)
	}
}
