@{
    RootModule           = 'RulesCompiler.psm1'
    ModuleVersion        = '0.0.0'
    GUID                 = '3f6a8c1e-52d7-4b0e-9a41-7c2d9e5b8f10'
    Author               = 'rules-compiler'
    Copyright            = 'MIT'
    Description          = 'Compiles DNS blocklists: many lists in, one list out, every line accounted for'
    PowerShellVersion    = '7.0'
    CompatiblePSEditions = @('Core')
    FunctionsToExport    = @('Invoke-RulesCompiler', 'Test-RulesConfiguration', 'Get-RulesPlan', 'Get-RuleReason', 'Get-RulesStatistic')
    CmdletsToExport      = @()
    VariablesToExport    = @()
    AliasesToExport      = @()
    PrivateData          = @{
        PSData = @{
            Tags       = @('dns', 'blocklist', 'adguard', 'pi-hole')
            LicenseUri = 'https://github.com/rules-compiler/rules-compiler/blob/main/LICENSE'
            ProjectUri = 'https://github.com/rules-compiler/rules-compiler'
        }
    }
}
