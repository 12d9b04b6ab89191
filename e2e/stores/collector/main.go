// A collector of OpenTelemetry with its own receiver and pipeline of profiles, and an exporter that checks each profile and prints its
// sums: a line "profile TYPE UNIT SAMPLES TOTAL HOST SERVICE", and one "sample TYPE TOTAL ATTRIBUTES LEAF…ROOT" for each sample.
//
//	collector PORT
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

type sums struct{ lines sync.Mutex }

func (*sums) Start(context.Context, component.Host) error { return nil }
func (*sums) Shutdown(context.Context) error              { return nil }
func (*sums) Capabilities() consumer.Capabilities         { return consumer.Capabilities{} }

// ConsumeProfiles fails if a number points nowhere: the Collector then answers the request with an error.
func (s *sums) ConsumeProfiles(_ context.Context, all pprofile.Profiles) error {
	s.lines.Lock()
	defer s.lines.Unlock()
	dictionary := all.Dictionary()
	text := func(number int32) string { return dictionary.StringTable().At(int(number)) }
	for _, resource := range all.ResourceProfiles().All() {
		host, _ := resource.Resource().Attributes().Get("host.name")
		service, _ := resource.Resource().Attributes().Get("service.name")
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				kind, unit := text(profile.SampleType().TypeStrindex()), text(profile.SampleType().UnitStrindex())
				total := int64(0)
				for _, sample := range profile.Samples().All() {
					value := int64(0)
					for _, v := range sample.Values().All() {
						value += v
					}
					total += value
					var said []string
					for _, number := range sample.AttributeIndices().All() {
						attribute := dictionary.AttributeTable().At(int(number))
						said = append(said, text(attribute.KeyStrindex())+"="+attribute.Value().AsString())
					}
					sort.Strings(said)
					var path []string
					for _, number := range dictionary.StackTable().At(int(sample.StackIndex())).LocationIndices().All() {
						location := dictionary.LocationTable().At(int(number))
						dictionary.MappingTable().At(int(location.MappingIndex()))
						for _, line := range location.Lines().All() {
							function := dictionary.FunctionTable().At(int(line.FunctionIndex()))
							path = append(path, text(function.NameStrindex()))
						}
					}
					fmt.Printf("sample %s %d %s %s\n", kind, value, strings.Join(said, ","), strings.Join(path, ";"))
				}
				if profile.ProfileID().IsEmpty() || profile.Time() == 0 || profile.DurationNano() == 0 {
					return fmt.Errorf("a profile without a number, a time or a duration")
				}
				fmt.Printf("profile %s %s %d %d %s %s\n", kind, unit, profile.Samples().Len(), total, host.AsString(), service.AsString())
			}
		}
	}
	return nil
}

func main() {
	kind := component.MustNewType("sums")
	printing := &sums{}
	exporters := map[component.Type]exporter.Factory{
		kind: xexporter.NewFactory(kind, func() component.Config { return &struct{}{} },
			xexporter.WithProfiles(func(context.Context, exporter.Settings, component.Config) (xexporter.Profiles, error) {
				return printing, nil
			}, component.StabilityLevelDevelopment)),
	}
	otlp := otlpreceiver.NewFactory()
	config := fmt.Sprintf(`yaml:
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:%s"}}}}
exporters: {sums: {}}
service:
  telemetry: {metrics: {level: none}, logs: {level: warn}}
  pipelines: {profiles: {receivers: [otlp], exporters: [sums]}}
`, os.Args[1])
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "0"},
		Factories: func() (otelcol.Factories, error) {
			return otelcol.Factories{
				Receivers: map[component.Type]receiver.Factory{otlp.Type(): otlp},
				Exporters: exporters,
				Telemetry: otelconftelemetry.NewFactory(),
			}, nil
		},
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				URIs:              []string{config},
				DefaultScheme:     "yaml",
				ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
			},
		},
	}
	command := otelcol.NewCommand(settings)
	command.SetArgs([]string{"--feature-gates=service.profilesSupport"})
	if err := command.Execute(); err != nil {
		log.Fatal(err)
	}
}
