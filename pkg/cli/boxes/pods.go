// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxes

import (
	"fmt"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/util/podutils"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// PodSelector selects the pods of a box.
func PodSelector(box string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{modelv1.SelectorLabel: box})
}

// attachablePod returns one of the running pods of a box, and of any other object what the function returns.
func attachablePod(others polymorphichelpers.AttachablePodForObjectFunc) polymorphichelpers.AttachablePodForObjectFunc {
	return func(getter genericclioptions.RESTClientGetter, object runtime.Object, timeout time.Duration) (*corev1.Pod, error) {
		switch object := object.(type) {
		case *modelv1.ModelBox:
			config, err := getter.ToRESTConfig()
			if err != nil {
				return nil, err
			}
			client, err := coreclient.NewForConfig(config)
			if err != nil {
				return nil, err
			}
			mostActiveFirst := func(pods []*corev1.Pod) sort.Interface { return sort.Reverse(podutils.ActivePods(pods)) }
			pod, _, err := polymorphichelpers.GetFirstPod(client, object.Namespace, PodSelector(object.Name).String(), timeout, mostActiveFirst)
			if err != nil {
				return nil, fmt.Errorf("looking for a pod of box %s: %w", object.Name, err)
			}
			return pod, nil
		case *modelv1.ModelStack:
			return nil, fmt.Errorf("stack %s has many boxes: name one of them", object.Name)
		}
		return others(getter, object, timeout)
	}
}
