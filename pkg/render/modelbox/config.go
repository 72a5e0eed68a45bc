// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// ConfigMapName returns the name of the ConfigMap of a config of the box.
func ConfigMapName(box *modelv1.ModelBox, config *modelv1.ModelBoxConfig) string {
	if config.Rollout == modelv1.ConfigRolloutVersioned {
		return helper.VersionedConfigMapName(box.Name, config.Name, config.Data, config.BinaryData)
	}
	return helper.ConfigMapName(box.Name, config.Name)
}

func configMap(box *modelv1.ModelBox, config *modelv1.ModelBoxConfig) *applycorev1.ConfigMapApplyConfiguration {
	configMap := applycorev1.ConfigMap(ConfigMapName(box, config), box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(box.Spec.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithData(config.Data).
		WithBinaryData(config.BinaryData)
	if config.Rollout == modelv1.ConfigRolloutVersioned {
		configMap.WithImmutable(true)
	}
	return configMap
}

// configVolumes returns the volumes of the configs.
func configVolumes(box *modelv1.ModelBox) []*applycorev1.VolumeApplyConfiguration {
	var volumes []*applycorev1.VolumeApplyConfiguration
	for i := range box.Spec.Configs {
		config := &box.Spec.Configs[i]
		volumes = append(volumes, applycorev1.Volume().
			WithName(helper.ConfigVolumeName(config.Name)).
			WithConfigMap(applycorev1.ConfigMapVolumeSource().WithName(ConfigMapName(box, config))))
	}
	return volumes
}

// withConfigMounts returns a copy of the container of the box with the volume mounts of its configs.
func withConfigMounts(container corev1.Container, spec *modelv1.ModelBoxSpec) corev1.Container {
	container.VolumeMounts = slices.Clip(container.VolumeMounts)
	for i := range spec.Configs {
		config := &spec.Configs[i]
		if config.Container != container.Name && !(config.Container == "" && container.Name == spec.Name) {
			continue
		}
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
			Name:      helper.ConfigVolumeName(config.Name),
			MountPath: config.MountPath,
			ReadOnly:  true,
		})
	}
	return container
}

// configsHash returns a hash of the data of the configs whose rollout is "Restart", empty if there are none.
func configsHash(spec *modelv1.ModelBoxSpec) string {
	hashes := map[string][]byte{}
	for i := range spec.Configs {
		if config := &spec.Configs[i]; config.Rollout == modelv1.ConfigRolloutRestart {
			hashes[config.Name] = helper.ConfigDataHash(config.Data, config.BinaryData)
		}
	}
	if len(hashes) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		fmt.Fprintf(hash, "%d:%s%x", len(name), name, hashes[name]) // a hash returns no error
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
