// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// testCluster is a cluster that has what a test says.
type testCluster struct {
	// live is the Deployment with the name of the box, for users who may get it.
	live      modelboxrender.Live
	revisions []modelboxrender.Revision
	pods      []corev1.Pod
	claims    map[string]resource.Quantity
	// unknown is a field of every child that the cluster does not know.
	unknown []string
	// err is what it answers instead.
	err error
}

func (c *testCluster) Live(_ context.Context, box *modelv1.ModelBox, mayGet func(schema.GroupVersionResource, string) bool) (modelboxrender.Live, error) {
	if !mayGet(appsv1.SchemeGroupVersion.WithResource("deployments"), box.Name) {
		return modelboxrender.Live{}, c.err
	}
	return c.live, c.err
}

func (c *testCluster) Revisions(context.Context, *modelv1.ModelBox) ([]modelboxrender.Revision, error) {
	return c.revisions, c.err
}

func (c *testCluster) Pods(context.Context, *modelv1.ModelBox) ([]corev1.Pod, error) {
	return c.pods, c.err
}

func (c *testCluster) WatchPods(context.Context, *modelv1.ModelBox, func()) (func(context.Context) ([]corev1.Pod, error), error) {
	return func(context.Context) ([]corev1.Pod, error) { return c.pods, c.err }, c.err
}

func (c *testCluster) PodUID(_ context.Context, pod types.NamespacedName) (types.UID, error) {
	for i := range c.pods {
		if c.pods[i].Name == pod.Name {
			return c.pods[i].UID, c.err
		}
	}
	return "", c.err
}

func (c *testCluster) IsOrphaned(context.Context, *modelv1.ModelBox) (bool, error) {
	return false, c.err
}

func (c *testCluster) ClaimSizes(context.Context, *modelv1.ModelBox) (map[string]resource.Quantity, error) {
	return c.claims, c.err
}

func (c *testCluster) Known(child *unstructured.Unstructured) *unstructured.Unstructured {
	if c.unknown != nil {
		child = child.DeepCopy()
		unstructured.RemoveNestedField(child.Object, c.unknown...)
	}
	return child
}
