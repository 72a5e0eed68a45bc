// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ConfigFile is the name of the file in the configs of WithConfig.
const ConfigFile = "app.conf"

// WithConfig sets a config with one file, which is mounted at /etc/<name>.
func WithConfig(name string, rollout modelv1.ConfigRollout, content string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		config := modelv1.ModelBoxConfig{Name: name, MountPath: "/etc/" + name, Rollout: rollout, Data: map[string]string{ConfigFile: content}}
		i := slices.IndexFunc(spec.Configs, func(config modelv1.ModelBoxConfig) bool { return config.Name == name })
		if i < 0 {
			spec.Configs = append(spec.Configs, config)
			return
		}
		spec.Configs[i] = config
	}
}

// AwaitConfigMaps waits until the box has exactly the ConfigMaps with these names.
func (n *Namespace) AwaitConfigMaps(box string, names ...string) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("box %s has the ConfigMaps %q", box, names), func() error {
		if got := n.ConfigMapNames(box); !slices.Equal(got, names) {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
}

// ConfigMapNames returns the names of the ConfigMaps of a box, sorted.
func (n *Namespace) ConfigMapNames(box string) []string {
	n.T.Helper()
	configMaps, err := n.ConfigMaps.List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + box})
	if err != nil {
		n.T.Fatal(err)
	}
	var names []string
	for i := range configMaps.Items {
		names = append(names, configMaps.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// AwaitConfigMap returns the ConfigMap as soon as check returns nil for it.
func (n *Namespace) AwaitConfigMap(name, what string, check func(*corev1.ConfigMap) error) *corev1.ConfigMap {
	n.T.Helper()
	var configMap *corev1.ConfigMap
	n.Eventually(fmt.Sprintf("ConfigMap %s %s", name, what), func() (err error) {
		if configMap, err = n.ConfigMaps.Get(n.Ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(configMap)
	})
	return configMap
}
